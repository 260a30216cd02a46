// After navigation, keyboards and screen readers begin at the heading.
import { useEffect, useRef } from "../../vendor/preact-htm.js";

let moved = false; // since the page was opened
addEventListener("hashchange", () => { moved = true; });

// The ref of a heading with tabindex -1, which exists once `ready`.
export function useHeading(ready = true) {
  const heading = useRef(null);
  useEffect(() => { if (moved && ready) heading.current?.focus({ preventScroll: true }); }, [ready]);
  return heading;
}
