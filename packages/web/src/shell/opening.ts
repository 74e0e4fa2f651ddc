import type { AnyRouter } from '@tanstack/react-router'
import './opening.css'

const mark = 'data-opening'

/** Says at once that a press was understood: until the page that it leads to is there, a bar moves, and whatever leads there is marked. */
export function markWhatOpens(router: AnyRouter): void {
	const marked = new Set<Element>()
	const clear = () => {
		for (const element of marked) element.removeAttribute(mark)
		marked.clear()
	}
	router.subscribe('onBeforeLoad', ({ toLocation, hrefChanged }) => {
		clear()
		if (!hrefChanged) return
		const links = [...document.links].filter((link) => link.getAttribute('href') === toLocation.publicHref)
		const button = document.activeElement?.closest('button')
		for (const element of [document.documentElement, ...links, ...(button ? [button] : [])]) {
			element.setAttribute(mark, '')
			marked.add(element)
		}
	})
	router.subscribe('onResolved', clear)
}
