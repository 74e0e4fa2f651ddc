// The headers let a browser show a hosted page and send its forms, and nothing else. The address of an invoice is a secret, so
// they keep it out of caches, search indexes and `Referer`; `no-referrer` also makes the `Origin` of a form `null`.
import { accentHash, styleHash } from './style.ts'

/**
 * The headers of every hosted page. Chromium checks the redirect that answers a form against `form-action`, too: `formTargets`
 * are the origins that it may lead to, such as `https://checkout.stripe.com`. `accent` is the page's.
 */
export function pageHeaders(formTargets: readonly string[], accent: string | null = null): Record<string, string> {
	const policy = [
		"default-src 'none'",
		['style-src', styleHash, ...(accent ? [accentHash(accent)] : [])].join(' '),
		// The logo, and the empty icon of page.ts, without which a browser asks for /favicon.ico.
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
