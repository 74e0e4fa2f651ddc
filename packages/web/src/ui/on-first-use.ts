import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

const whenIdle = globalThis.requestIdleCallback ?? ((load: () => void) => setTimeout(load, 2_000))

/** A part that a page does not need to be seen: its file is loaded when the browser has nothing else to do, or when it is first shown. */
// biome-ignore lint/suspicious/noExplicitAny: the props are those of the part.
export function onFirstUse<Part extends ComponentType<any>>(load: () => Promise<{ default: Part }>): LazyExoticComponent<Part> {
	whenIdle(() => void load().catch(() => {}))
	return lazy(load)
}
