// What a browser may do with a hosted page: show it, and send its forms. The address of an invoice is a secret, so it goes
// into no cache, no search index and no `Referer`; for the same reason a form's `Origin` is `null`.
import { styleHash } from './style.ts'

/**
 * The headers of every hosted page. Chromium holds the redirect that answers a form against `form-action` too: the origins
 * it may lead to are the targets, such as `https://checkout.stripe.com`.
 */
export function pageHeaders(formTargets: readonly string[]): Record<string, string> {
	const policy = [
		"default-src 'none'",
		`style-src ${styleHash}`,
		// The empty icon of page.ts, without which a browser asks for /favicon.ico.
		'img-src data:',
		["form-action 'self'", ...formTargets].join(' '),
		"base-uri 'none'",
		"frame-ancestors 'none'",
	]
	return {
		'Content-Type': 'text/html; charset=utf-8',
		'Content-Security-Policy': policy.join('; '),
		'Cache-Control': 'no-store',
		'Cross-Origin-Opener-Policy': 'same-origin',
		'Cross-Origin-Resource-Policy': 'same-origin',
		'Referrer-Policy': 'no-referrer',
		'X-Content-Type-Options': 'nosniff',
		'X-Robots-Tag': 'noindex, nofollow',
	}
}
