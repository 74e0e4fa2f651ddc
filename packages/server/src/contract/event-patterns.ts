// What an endpoint subscribes to: a type of event, all of a kind (`invoice.*`, `webhook.endpoint.*`), or `*`.
import { eventTypes } from '../generated/tables.ts'

/** The patterns that a type of event matches: itself, each kind that it is of, and `*`. */
export function patternsOf(type: string): string[] {
	const names = type.split('.')
	return ['*', ...names.slice(1).map((_, index) => `${names.slice(0, index + 1).join('.')}.*`), type]
}

const patterns = new Set(Object.keys(eventTypes).flatMap(patternsOf))

/** Whether there is an event that matches. */
export const isEventPattern = (pattern: string): boolean => patterns.has(pattern)
