// Sets up Ajv for the contract: the contract's formats, and its schemas under one `$id`.
import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { formatOptions } from './formats.ts'

export function newAjv(schemas: object, options: Options): Ajv2020 {
	const ajv = new Ajv2020({ strict: false, validateSchema: false, ...options })
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
