// Starts Swagger UI. A file of its own, because the page's policy lets no script run that stands in the page.
SwaggerUIBundle({
	url: new URL('openapi.json', document.currentScript.src).href,
	domNode: document.getElementById('reference'),
	// The address of the page chooses nothing but the operation that is shown.
	queryConfigEnabled: false,
	deepLinking: true,
	filter: true,
	// Nobody else is asked what they think of the document.
	validatorUrl: null,
	// Only a key that was entered acts: a session of the browser must not.
	requestInterceptor: (request) => Object.assign(request, { credentials: 'omit' }),
	persistAuthorization: false,
	displayOperationId: true,
	displayRequestDuration: true,
	defaultModelsExpandDepth: 0,
})

// Swagger UI leaves these without a name for screen readers, or with one that is not what stands on them.
const names = [
	['#servers', 'Server'],
	['.examples-select-element', 'Example'],
	['.content-type', 'Media type'],
	['.close-modal', 'Close'],
	['.body-param__text', 'Request body'],
	['.btn.auth.authorize', 'Authorize: apply credentials'],
]

function nameParts() {
	for (const [selector, name] of names)
		for (const part of document.querySelectorAll(selector)) if (part.ariaLabel !== name) part.ariaLabel = name
	for (const part of document.querySelectorAll('[data-param-name] :is(input, select, textarea)'))
		part.ariaLabel ??= part.closest('[data-param-name]').dataset.paramName
	// What is wider than its box is scrolled by the keyboard as well.
	for (const code of document.querySelectorAll('.highlight-code > pre')) code.tabIndex = 0
	// A link in a button: who uses the keyboard stops at both, and both do the same.
	for (const link of document.querySelectorAll('.opblock-summary-control a[href]')) link.removeAttribute('href')
}

let isDue = false
new MutationObserver(() => {
	if (isDue) return
	isDue = true
	requestAnimationFrame(() => {
		isDue = false
		nameParts()
	})
}).observe(document.getElementById('reference'), { childList: true, subtree: true })
