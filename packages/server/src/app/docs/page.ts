// The page of the API reference, and its headers.
import { html } from 'ghtml'

/** `version` is that of Swagger UI. */
export const page = (version: string): string => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Remit</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/${version}/swagger-ui.css">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/${version}/swagger-ui-bundle.js" defer></script>
<script src="/docs/start.js" defer></script>
</head>
<body>
<main id="reference"></main>
<noscript>The reference needs JavaScript. <a href="/openapi.json">The contract</a> is the same for programs.</noscript>
</body>
</html>
`

const policy = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	// The icons of Swagger UI's style sheet, and a logo that was asked for.
	"img-src 'self' data: blob:",
	"connect-src 'self'",
	"form-action 'none'",
	"base-uri 'none'",
	"frame-ancestors 'none'",
]

export const pageHeaders = {
	'Content-Type': 'text/html; charset=utf-8',
	'Content-Security-Policy': policy.join('; '),
	'Cache-Control': 'no-cache',
	'Cross-Origin-Opener-Policy': 'same-origin',
	'Cross-Origin-Resource-Policy': 'same-origin',
	'Referrer-Policy': 'same-origin',
}
