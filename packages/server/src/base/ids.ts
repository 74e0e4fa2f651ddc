import { customAlphabet } from 'nanoid'
import type { idPrefixes } from '../generated/tables.ts'

const random = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 20)

/** Of the contract's records, and of what is none: line items, payment links, requests. */
type Prefix = (typeof idPrefixes)[keyof typeof idPrefixes] | 'li' | 'plk' | 'req'

/** 119 random bits behind a prefix that names the kind of record. */
export function newId(prefix: Prefix): string {
	return `${prefix}_${random()}`
}

const timeDigits = 9

/**
 * An id that begins with its time, so that the index of a table that only grows is written at its end: a third less to write
 * for each event (docs/performance.md).
 */
export function newTimedId(prefix: 'evt', now: number): string {
	return beginningOf(prefix, now) + random(14)
}

/** What the ids of a time begin with: those of earlier times sort before it. */
export const beginningOf = (prefix: 'evt' | 'whd', now: number): string =>
	`${prefix}_${now.toString(36).padStart(timeDigits, '0')}`
