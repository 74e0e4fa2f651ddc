// Writes packages/server/src/generated/public-parts.ts: what takes the fields that a client may see, and no other.
import type { OpenApiDocument } from './openapi.ts'
import { publicFields } from './record-tables.ts'

/** Written out field by field: a loop over names costs more for each line of each invoice. */
export function writePublicParts(document: OpenApiDocument, banner: string): string {
	const parts = Object.entries(publicFields(document)).map(([schema, names]) => {
		const fields = names.map((name) => `\t\t${name}: record.${name},`).join('\n')
		return `\t${schema}: (record: Contract.${schema}): Contract.${schema} => ({\n${fields}\n\t}),`
	})
	return `// ${banner}
import type * as Contract from './contract.ts'

/** For each schema that is shown without a key: its fields of a record that may have more. */
export const publicParts = {
${parts.join('\n')}
}
`
}
