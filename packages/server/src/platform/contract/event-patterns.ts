// The patterns that an endpoint subscribes to: an event type, all types of a kind (`invoice.*`, `webhook.endpoint.*`), or `*`.
import type { EventType, ResourceKind } from '../../generated/contract.ts'
import { eventKinds, eventTypes } from '../../generated/tables.ts'

/** The patterns that match an event type: the type itself, each kind that it belongs to, and `*`. */
export function patternsOf(type: string): string[] {
	const names = type.split('.')
	return ['*', ...names.slice(1).map((_, index) => `${names.slice(0, index + 1).join('.')}.*`), type]
}

const patterns = new Set(Object.keys(eventTypes).flatMap(patternsOf))

/** The types of events that are about these kinds of records. */
export const typesAbout = (kinds: readonly ResourceKind[]): EventType[] =>
	(Object.keys(eventKinds) as EventType[]).filter((type) => kinds.includes(eventKinds[type]))

interface EventFilter {
	readonly type?: string | undefined
	readonly resourceType?: ResourceKind | undefined
}

/** The types of events that match a pattern and are about these kinds of records; undefined for all. */
export function typesMatching(
	{ type, resourceType }: EventFilter,
	reach: readonly ResourceKind[] | null,
): EventType[] | undefined {
	if ((type === undefined || type === '*') && resourceType === undefined && reach === null) return undefined
	return (Object.keys(eventKinds) as EventType[]).filter(
		(one) =>
			(type === undefined || patternsOf(one).includes(type)) &&
			(resourceType === undefined || eventKinds[one] === resourceType) &&
			(reach === null || reach.includes(eventKinds[one])),
	)
}

/** Whether the pattern matches any event type of the contract. */
export const isEventPattern = (pattern: string): boolean => patterns.has(pattern)
