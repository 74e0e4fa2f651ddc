// From what a provider answered to records, and times to and fro.
import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ObjectManifest, TimeFormat } from '../providers/manifest.ts'
import { oneLine, valueAt } from '../values.ts'
import { type ExternalRecord, ProviderFailed } from './types.ts'

type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Not what the provider answers to such a call; another time it may be. */
export const notAnswered = (what: string) =>
	new ProviderFailed('retry', 'invalid_answer', `The answer of the provider has no ${what}.`)

/** The records in the answer to a list. After its JSON was parsed, and between many records, others have a turn. */
export async function recordsIn(object: ObjectManifest, json: unknown): Promise<ExternalRecord[]> {
	const list = valueAt(json, object.records)
	if (!Array.isArray(list)) throw notAnswered(object.records === '' ? 'list' : `list ${object.records}`)
	const records: ExternalRecord[] = []
	for (const [at, item] of list.entries()) {
		if (at % recordsInTurn === 0) await nextTurn()
		records.push(recordIn(object, item, at))
	}
	return records
}

const recordsInTurn = 5_000

function recordIn(object: ObjectManifest, item: unknown, at: number): ExternalRecord {
	const reason = mistakeOfId(object, item)
	if (reason === undefined) return recordOf(object, item)
	const problem = { code: 'invalid_id', reason } as const
	return { id: `unnamed-${at}-${nameOf(item)}`, changedAt: null, isDeleted: false, problem, data: isObject(item) ? item : {} }
}

/** More than an id of any provider has, and less than an index of PostgreSQL takes. */
const longestId = 500

function mistakeOfId(object: ObjectManifest, item: unknown): string | undefined {
	const id = isObject(item) ? idOf(object, item) : undefined
	if (id === undefined) return `The record has no ${object.idField}.`
	if (id.length > longestId) return `The ${object.idField} of the record is longer than ${longestId} characters.`
	return id.includes('\0') || !id.isWellFormed()
		? `The ${object.idField} of the record is no text that can be stored.`
		: undefined
}

/** Tells one broken record from another, in each run alike. */
function nameOf(item: unknown): string {
	try {
		return hash('sha256', JSON.stringify(item) ?? '', 'base64url').slice(0, 16)
	} catch {
		// It is nested too deeply.
		return 'deep'
	}
}

export function recordOf(object: ObjectManifest, json: unknown): ExternalRecord {
	const id = isObject(json) ? idOf(object, json) : undefined
	if (id === undefined)
		throw new ProviderFailed('rejected', 'invalid_answer', `The provider answered a record without ${object.idField}.`)
	const own = json as Json
	const changed = object.changedField === null ? null : valueAt(own, object.changedField)
	const record = { id, changedAt: timeOf(changed), isDeleted: isDeleted(object, own), data: own }
	return fits(own, mostLevels, { left: mostBytes }) ? record : { ...record, ...withoutRefused(own) }
}

function withoutRefused(own: Json): Pick<ExternalRecord, 'data' | 'problem'> {
	const room = { left: mostBytes }
	const refused = Object.keys(own).filter((name) => !fits(own[name], mostLevels - 1, room))
	const isLarge = room.left < 0
	const limit = isLarge ? 'is larger than 1 MiB' : `is nested more than ${mostLevels} levels deep`
	const reason = `The record ${limit}: ${oneLine(refused.join(', '), 100)}.`
	const data = Object.fromEntries(Object.entries(own).filter(([name]) => !refused.includes(name)))
	return { data, problem: { code: isLarge ? 'too_large' : 'too_deep', reason } }
}

/** Text is made of records, and deeper ones have no end for it. */
const mostLevels = 100
/** About the bytes that a record may have as JSON: other requests wait while it is read and written. */
const mostBytes = 1024 * 1024
const bytesOfValue = 8

/** Takes of the room what a value has; false where it has too much, or too many levels. */
function fits(value: unknown, levels: number, room: { left: number }): boolean {
	room.left -= bytesOfValue + (typeof value === 'string' ? value.length : 0)
	if (room.left < 0) return false
	if (typeof value !== 'object' || value === null) return true
	if (levels === 0) return false
	if (Array.isArray(value)) return value.every((one) => fits(one, levels - 1, room))
	// Without a copy of its values: a page may have a million.
	for (const name in value) if (!fits((value as Json)[name], levels - 1, room)) return false
	return true
}

export function idOf({ idField }: ObjectManifest, json: unknown): string | undefined {
	const id = valueAt(json, idField)
	return (typeof id === 'string' && id !== '') || Number.isFinite(id) ? String(id) : undefined
}

function isDeleted({ deletion }: ObjectManifest, data: Json): boolean {
	if (!deletion) return false
	const value = valueAt(data, deletion.field)
	return deletion.values === 'any' ? Boolean(value) : deletion.values.includes(value)
}

/** Where the one record of an answer is: some providers have something around it. */
export function unwrapped({ envelope }: ObjectManifest, json: unknown): unknown {
	if (!envelope) return json
	const inner = isObject(json) && Object.hasOwn(json, envelope.name) ? json[envelope.name] : undefined
	if (envelope.list) return Array.isArray(inner) ? inner[0] : undefined
	return inner ?? json
}

const dotnet = /^\/Date\((-?\d{1,16})(?:[+-]\d{4})?\)\/$/
/** A time without an offset is of UTC. */
const withoutOffset = /^\d{4}-\d\d-\d\dT[\d:.]+$/
const latest = 8.64e15

/** Unix milliseconds of a time in any of the formats; null for anything else. */
function timeOf(value: unknown): number | null {
	const ms = msOf(value)
	return Number.isFinite(ms) && Math.abs(ms) <= latest ? Math.trunc(ms) : null
}

function msOf(value: unknown): number {
	const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : ''
	// Seconds of now have ten digits, milliseconds thirteen.
	if (/^\d{1,16}(\.\d+)?$/.test(text)) return Number(text) * (Number(text) < 100_000_000_000 ? 1000 : 1)
	const [, ms] = dotnet.exec(text) ?? []
	if (ms !== undefined) return Number(ms)
	return /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(withoutOffset.test(text) ? `${text}Z` : text) : Number.NaN
}

export function timeText(ms: number, format: TimeFormat): string {
	if (format === 'unix_ms') return String(ms)
	if (format === 'unix_s') return String(Math.floor(ms / 1000))
	return format === 'iso' ? new Date(ms).toISOString() : `/Date(${ms}+0000)/`
}
