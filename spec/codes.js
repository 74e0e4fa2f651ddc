// The decorator of codes.tsp. The emitter writes it as an extension, which tools/error-answers.ts takes out of the document.
import { setExtension } from '@typespec/openapi'

export const $decorators = {
	Remit: {
		codes: ({ program }, operation, ...codes) => setExtension(program, operation, 'x-error-codes', codes),
	},
}
