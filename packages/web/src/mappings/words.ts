import type { Mapping, MappingField, MappingSide } from '@remit/sdk'
import { words } from '../format/names.ts'

/** `Hubspot companies`, `Remit company`. */
const showSide = ({ system, object }: MappingSide): string =>
	`${system === 'internal' ? 'Remit' : words(system)} ${object.replaceAll('_', ' ')}`

export const showSides = ({ source, target }: Pick<Mapping, 'source' | 'target'>): string =>
	`${showSide(source)} → ${showSide(target)}`

/** Where the value of a field comes from, when it is no path. */
export const showOrigin = ({ source, template, constant }: MappingField): string =>
	source ?? (template === undefined ? `always ${JSON.stringify(constant)}` : `“${template}”`)
