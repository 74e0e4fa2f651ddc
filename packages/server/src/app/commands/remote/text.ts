// What commands print of what others wrote: a terminal obeys some characters.
import { isUtf8 } from 'node:buffer'
import { buffer } from 'node:stream/consumers'
import type { ConflictingField, SyncRecordError } from '@remit/sdk'
import { UsageError } from '../command.ts'

/** On one line, without control characters. */
export const plain = (value: unknown): string =>
	(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')

/** Lines whose columns stand below each other. */
export function columns(rows: readonly (readonly unknown[])[]): string[] {
	const cells = rows.map((row) => row.map(plain))
	const widths = cells.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)), [])
	return cells.map((row) =>
		row
			.map((cell, at) => cell.padEnd(widths[at] ?? 0))
			.join('  ')
			.trimEnd(),
	)
}

/** All that is piped in; nothing from a terminal. */
export const readInput = async (): Promise<string> =>
	process.stdin.isTTY ? '' : utf8(await buffer(process.stdin), 'standard input')

/** Bytes of another encoding would lose their letters. */
export function utf8(bytes: Buffer, from: string): string {
	if (isUtf8(bytes)) return bytes.toString()
	throw new UsageError(`${from}: is not UTF-8`)
}

const shownOf = (value: string | null) => (value === null ? 'nothing' : JSON.stringify(value.slice(0, 60)))

/** `phone: "1" there, "2" here, "0" before.` */
const difference = ({ field, provider, remit, base }: ConflictingField) =>
	`${field}: ${shownOf(provider)} there, ${shownOf(remit)} here${base === undefined ? '' : `, ${shownOf(base)} before`}.`

/** Why records could not be written, a line a reason; with the ids of the errors, by which a caller decides conflicts. */
export const errorLines = (found: readonly SyncRecordError[], withIds = false): string[] =>
	columns(
		found.flatMap(({ id, externalId, recordId, errors, resolvedAt, decision }) =>
			errors.map(({ field, code, reason, candidates, differences = [] }) => [
				...(withIds ? [id] : []),
				...[externalId ?? recordId ?? '-', field || '-', code],
				[
					...[reason, ...(candidates ? [candidates.join(', ')] : []), ...differences.map(difference)],
					...(resolvedAt === null ? (decision === null ? [] : [`(the next run uses the ${decision})`]) : ['(written since)']),
				].join(' '),
			]),
		),
	)
