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
