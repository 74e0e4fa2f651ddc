// The headers of the web application. Its page may load scripts, styles and data of this server and nothing else.

/** Of the one style that React Aria adds on iOS, behind a dialog; packages/web/test/serving.e2e.test.ts computes it from the package. */
const iosDialogStyle = "'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg='"

const policy = [
	"default-src 'none'",
	"script-src 'self'",
	`style-src 'self' ${iosDialogStyle}`,
	"img-src 'self' data: blob:",
	"connect-src 'self'",
	'frame-src blob:',
	"form-action 'self'",
	"base-uri 'none'",
	"frame-ancestors 'none'",
	"require-trusted-types-for 'script'",
	"trusted-types 'none'",
].join('; ')

const nothing = [
	'camera',
	'display-capture',
	'geolocation',
	'microphone',
	'payment',
	'usb',
	'serial',
	'hid',
	'midi',
	'screen-wake-lock',
]

const common = {
	'Cross-Origin-Resource-Policy': 'same-origin',
	'X-Content-Type-Options': 'nosniff',
}

export const pageHeaders: Readonly<Record<string, string>> = {
	...common,
	'Content-Type': 'text/html; charset=utf-8',
	'Content-Security-Policy': policy,
	'Cache-Control': 'no-cache',
	'Cross-Origin-Opener-Policy': 'same-origin',
	'Referrer-Policy': 'same-origin',
	'Permissions-Policy': nothing.map((feature) => `${feature}=()`).join(', '),
}

const types: Readonly<Record<string, string>> = {
	md: 'text/markdown; charset=utf-8',
	js: 'text/javascript; charset=utf-8',
	css: 'text/css; charset=utf-8',
	svg: 'image/svg+xml',
	png: 'image/png',
	woff2: 'font/woff2',
}

/** The name of a file has a hash of its content, so a browser never asks for it again. */
export const fileHeaders = (name: string): Readonly<Record<string, string>> => ({
	...common,
	'Content-Type': types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
	'Cache-Control': 'public, max-age=31536000, immutable',
})
