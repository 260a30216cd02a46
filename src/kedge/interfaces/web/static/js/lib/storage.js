// Values in the browser's storage. A damaged value counts as missing.
export function stored(name, usual, storage = localStorage) {
  try {
    const value = JSON.parse(storage.getItem(name));
    return value && Array.isArray(value) === Array.isArray(usual) && typeof value === typeof usual ? value : usual;
  } catch {
    return usual;
  }
}
