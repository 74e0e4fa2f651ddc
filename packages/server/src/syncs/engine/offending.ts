// The value at fault in the error of a field: whoever mends it sees what the record has.
import { type CompiledField, type FieldError, namesOf } from '../../mappings/engine/engine.ts'
import { type Path, readPath } from '../../mappings/engine/path.ts'
import { Budget, RecordTooLarge } from '../../mappings/engine/values.ts'

const longest = 200

/** What is called so may be a secret, and stays out of errors. */
const secretly = /pass(word|wd|phrase)|secret|token|credential|authorization|api[-_]?key|private[-_]?key/i

/** The errors with the values that their fields read of a record; none of a value that is missing. */
export const withValues = (errors: readonly FieldError[], fields: readonly CompiledField[], record: object): FieldError[] =>
	errors.map((error) => {
		const field = fields.find(({ spec: { target } }) => target === error.field)
		const path = field && 'path' in field.origin ? field.origin.path : undefined
		const value = path && !secretly.test(`${error.field} ${namesOf(path)}`) ? textOf(path, record) : undefined
		return value === undefined ? error : { ...error, value }
	})

function textOf(path: Path, record: object): string | undefined {
	try {
		const value = readPath(path, record, new Budget())
		if (value === undefined || value === null) return undefined
		const text = typeof value === 'string' ? value : JSON.stringify(value)
		return text.slice(0, longest).toWellFormed()
	} catch (error) {
		if (error instanceof RecordTooLarge || error instanceof RangeError) return undefined
		throw error
	}
}
