import type { MappingField } from '@remit/sdk'

/** Where the value of a field comes from, when it is no path. */
export const showOrigin = ({ source, template, constant }: MappingField): string =>
	source ?? (template === undefined ? `always ${JSON.stringify(constant)}` : `“${template}”`)
