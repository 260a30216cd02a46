// Who gets to another part of the page by keys or ears begins at its heading.
import { useEffect, useRef } from "../vendor/preact-htm.js";

let moved = false; // since the page was opened
addEventListener("hashchange", () => { moved = true; });

// For a heading with tabindex -1, which is there once it is `ready`.
export function useHeading(ready = true) {
  const heading = useRef(null);
  useEffect(() => { if (moved && ready) heading.current?.focus({ preventScroll: true }); }, [ready]);
  return heading;
}
