import type { Mapping, MappingSide } from '@remit/sdk'
import { usePages } from '../api/pages.ts'

/** `HubSpot companies → Remit company`: providers have the names that they give themselves. */
export function useSides(): (mapping: Pick<Mapping, 'source' | 'target'>) => string {
	const { rows } = usePages('connections.providers.list', { limit: 100 })
	const nameOf = (system: string) => (system === 'internal' ? 'Remit' : (rows?.find(({ id }) => id === system)?.name ?? system))
	const show = ({ system, object }: MappingSide) => `${nameOf(system)} ${object.replaceAll('_', ' ')}`
	return ({ source, target }) => `${show(source)} → ${show(target)}`
}
