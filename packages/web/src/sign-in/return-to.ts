import type { AnyRouter } from '@tanstack/react-router'

/** Where to go after signing in: an address of this application, by the router's own list; anything else is the start. */
export function safePath(router: AnyRouter, returnTo = '/'): string {
	// A second slash, or what browsers take for one, would begin the name of another host.
	if (!/^\/(?![/\\])/.test(returnTo)) return '/'
	const [pathname = '/'] = returnTo.split(/[?#]/)
	const [, params, route] = router.getMatchedRoutes(pathname)
	const isPage = route !== undefined && !('**' in params) && !route.options.staticData?.isOutside
	return isPage ? returnTo : '/'
}
