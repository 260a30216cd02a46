// What the browser keeps for the page. What is not as the page wrote it is as good as nothing.
export function stored(name, usual, storage = localStorage) {
  try {
    const found = JSON.parse(storage.getItem(name));
    return found && Array.isArray(found) === Array.isArray(usual) && typeof found === typeof usual ? found : usual;
  } catch {
    return usual;
  }
}
