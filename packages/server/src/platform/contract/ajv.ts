// Sets up Ajv for the contract: the contract's formats, and its schemas under one `$id`.
import { Ajv2020, type FuncKeywordDefinition, type Options } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { formatOptions, trimmed } from './formats.ts'

/** The keyword `x-trimmed`: text is changed to what is stored, before any other keyword sees it. */
export const trimming: FuncKeywordDefinition = {
	keyword: 'x-trimmed',
	type: 'string',
	before: 'maxLength',
	modifying: true,
	errors: false,
	compile:
		() =>
		(text: string, { parentData, parentDataProperty }: DataContext = {}) => {
			if (parentData && parentDataProperty !== undefined) parentData[parentDataProperty] = trimmed(text)
			return true
		},
}

interface DataContext {
	readonly parentData?: Record<string | number, unknown>
	readonly parentDataProperty?: string | number
}

export function newAjv(schemas: object, options: Options): Ajv2020 {
	const ajv = new Ajv2020({ strict: false, validateSchema: false, keywords: [trimming], ...options })
	// The default export of this CommonJS module is typed as the module itself.
	;(addFormats as unknown as typeof addFormats.default)(ajv, { mode: 'full' })
	for (const [name, format] of Object.entries(formatOptions)) ajv.addFormat(name, format as never)
	ajv.addSchema({ $id: '/contract', components: { schemas } })
	return ajv
}

/** The schema with its references made absolute, so that they point into the document that `newAjv` adds. */
export function absolute(schema: object): { [keyword: string]: unknown } {
	return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"/contract#/components/'))
}
