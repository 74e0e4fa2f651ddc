import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

const whenIdle = globalThis.requestIdleCallback ?? ((load: () => void) => load())

/** So long a page has the line and the processor for itself. */
const patience = 3_000

/** Does the work once a page has had some seconds for itself. Returns how to leave it. */
export function whenQuiet(work: () => void): () => void {
	const timer = setTimeout(() => whenIdle(work), patience)
	return () => clearTimeout(timer)
}

/** A part that a page does not need to be seen: its file is loaded some seconds later, or when it is first shown. */
// biome-ignore lint/suspicious/noExplicitAny: the props are those of the part.
export function onFirstUse<Part extends ComponentType<any>>(load: () => Promise<{ default: Part }>): LazyExoticComponent<Part> {
	whenQuiet(() => void load().catch(() => {}))
	return lazy(load)
}
