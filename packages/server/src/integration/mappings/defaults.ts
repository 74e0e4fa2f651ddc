// The mappings that Remit brings along for each provider, ready to be created.

import type { MappingCreate } from '../../generated/contract.ts'
import { hubspotMappings } from '../connections/providers/hubspot-mappings.ts'
import { stripeMappings } from '../connections/providers/stripe-mappings.ts'
import { xeroMappings } from '../connections/providers/xero-mappings.ts'

export const defaultMappings: readonly MappingCreate[] = [...hubspotMappings, ...xeroMappings, ...stripeMappings]

/** Those that are about a system; all without one. */
export const defaultsOf = (system: string | undefined): readonly MappingCreate[] =>
	defaultMappings.filter(({ source, target }) => system === undefined || system === source.system || system === target.system)
