import { customAlphabet } from 'nanoid'
import type { idPrefixes } from '../../generated/tables.ts'

const random = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 11)

/** The prefixes of the contract's records, and of line items, payment links, allocations, skipped numbers, requests and erasures, which are
 * not among them. */
type Prefix = (typeof idPrefixes)[keyof typeof idPrefixes] | 'li' | 'plk' | 'alc' | 'skp' | 'req' | 'era'

const timeDigits = 9

/**
 * An id: a prefix that names the kind of record, the time, and 65 random bits. What is written together then stands together in every index
 * of ids, of which each page that a change touches is written again: an invoice from 100 time entries costs a quarter less than with
 * random ids.
 */
export const newId = (prefix: Prefix): string => `${prefix}_${timeDigitsOf(Date.now())}${random()}`

/** Counts the ids of this process, so that those of one millisecond sort as they were made. */
let count = 0
const countDigits = 4
const counts = 36 ** countDigits

/**
 * An id that begins with its time, so that the new rows of a table that only grows go to the end of its index (an event costs
 * a third less to write: docs/performance.md), and so that the key finds the newest.
 */
export function newTimedId(prefix: 'evt' | 'aud' | 'mail' | 'doc' | 'run' | 'rer', now: number): string {
	count = (count + 1) % counts
	return beginningOf(prefix, now) + count.toString(36).padStart(countDigits, '0') + random(10)
}

/** The beginning of all ids of a time; ids of earlier times sort before it. */
export const beginningOf = (prefix: 'evt' | 'whd' | 'aud' | 'mail' | 'doc' | 'run' | 'rer', now: number): string =>
	`${prefix}_${timeDigitsOf(now)}`

const timeDigitsOf = (now: number): string => now.toString(36).padStart(timeDigits, '0')

/** The time that an id begins with. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(id.indexOf('_') + 1).slice(0, timeDigits), 36)
