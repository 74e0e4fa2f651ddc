// The decorators of decorators.tsp. The emitter writes them as extensions, which tools/error-answers.ts, tools/security.ts and
// tools/aliases.ts take out of the document.
import { setExtension } from '@typespec/openapi'

const setter =
	(name) =>
	({ program }, operation, ...values) =>
		setExtension(program, operation, name, values)

export const $decorators = {
	Remit: {
		codes: setter('x-error-codes'),
		scopes: setter('x-scopes'),
		anyScope: setter('x-any-scope'),
		alsoPut: ({ program }, operation, more = '') => setExtension(program, operation, 'x-also-put', more),
	},
}
