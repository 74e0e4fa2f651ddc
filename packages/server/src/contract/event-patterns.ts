// The patterns that an endpoint subscribes to: an event type, all types of a kind (`invoice.*`, `webhook.endpoint.*`), or `*`.
import { eventTypes } from '../generated/tables.ts'

/** The patterns that match an event type: the type itself, each kind that it belongs to, and `*`. */
export function patternsOf(type: string): string[] {
	const names = type.split('.')
	return ['*', ...names.slice(1).map((_, index) => `${names.slice(0, index + 1).join('.')}.*`), type]
}

const patterns = new Set(Object.keys(eventTypes).flatMap(patternsOf))

/** Whether the pattern matches any event type of the contract. */
export const isEventPattern = (pattern: string): boolean => patterns.has(pattern)
