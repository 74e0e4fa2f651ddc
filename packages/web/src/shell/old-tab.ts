const mark = 'remit reloaded'

/** A tab from before an upgrade asks for files that are gone: it loads the new ones, once, so that it never loops. */
export function reloadOnceWhenOld(): void {
	addEventListener('vite:preloadError', (event) => {
		// Without a connection there is nothing to load, and the page would be lost.
		if (!navigator.onLine) return
		const last = Number(sessionStorage.getItem(mark))
		if (Date.now() - last < 60_000) return
		event.preventDefault()
		sessionStorage.setItem(mark, String(Date.now()))
		location.reload()
	})
}
