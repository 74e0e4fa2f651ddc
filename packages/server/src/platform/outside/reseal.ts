// Which keys hold what is sealed, and sealing it again with the first. Both go page by page, so that who calls them may rest.
import type { Db } from '../db/database.ts'
import { openClientToken } from './client-token.ts'
import { isLink, type SealedColumn, sealedColumns } from './sealed-columns.ts'
import { placeAfter, readPage, type SealedRow, writeSealed } from './sealed-store.ts'
import { keyIdOf, type Opened, type RowOf, type Secrets } from './secrets.ts'

/** How far a walk over all sealed values has come. */
export interface Checkpoint {
	/** As in `nameOf`. */
	readonly column: string
	/** The primary key of the last row that is done; null at the beginning of a column. */
	readonly after: RowOf<string> | null
}

const columns: readonly SealedColumn[] = Object.values(sealedColumns)

const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`

export const beginning: Checkpoint = { column: nameOf(columns[0] as SealedColumn), after: null }

/** A checkpoint of another version may name a column that is no more: then the walk begins again. */
const columnOf = ({ column }: Checkpoint): SealedColumn =>
	columns.find((known) => nameOf(known) === column) ?? (columns[0] as SealedColumn)

function checkpointAfter(column: SealedColumn, rows: readonly SealedRow[]): Checkpoint | undefined {
	const after = placeAfter(column, rows)
	if (after) return { column: nameOf(column), after }
	const next = columns[columns.indexOf(column) + 1]
	return next && { column: nameOf(next), after: null }
}

const isEmpty = (column: SealedColumn, { head }: SealedRow) => head === '' && !isLink(column)

const isSkipped = ({ head, value }: SealedRow) => head !== '' && value === ''

function openRow(secrets: Secrets, column: SealedColumn, row: SealedRow): Opened | undefined {
	if (!isLink(column)) return secrets.open(column, row, row.value)
	const { organizationId = '', invoiceId = '', nonce = '', tokenHash = '', value } = row
	return openClientToken(secrets, { organizationId, invoiceId, nonce, tokenHash, sealedToken: value || null })
}

export interface Counted {
	readonly column: string
	/** The number of values by the id of their key; `undefined` for those that name none and that none of the server's keys opens. */
	readonly counts: ReadonlyMap<string | undefined, number>
	/** Values that name a key of the server, which does not open them: they were changed, or are another row's. */
	readonly broken: number
	/** Values in the form of older versions, which name no key and are bound to no row. */
	readonly unbound: number
	/** Undefined when all is done. */
	readonly next: Checkpoint | undefined
}

/** Counts the values of the next page. `thoroughly`: opens each, instead of believing those that name a key of the server. */
export async function countPage(db: Db, secrets: Secrets, at: Checkpoint, thoroughly: boolean): Promise<Counted> {
	const column = columnOf(at)
	const rows = await readPage(db, column, at.after, thoroughly ? [] : secrets.keyIds)
	const counts = new Map<string | undefined, number>()
	let [broken, unbound] = [0, 0]
	for (const row of rows) {
		if (isEmpty(column, row)) continue
		const named = isSkipped(row) ? row.head : keyIdOf(row.value)
		const holder = isSkipped(row) ? row.head : openRow(secrets, column, row)?.keyId
		if (named === undefined) unbound++
		if (holder === undefined && named !== undefined && secrets.keyIds.includes(named)) broken++
		else counts.set(holder ?? named, (counts.get(holder ?? named) ?? 0) + 1)
	}
	return { column: nameOf(column), counts, broken, unbound, next: checkpointAfter(column, rows) }
}

export interface StalePage {
	/** Writes the values of the page that were sealed again; those that were changed meanwhile stay. */
	write(tx: Db): Promise<void>
	/** How many those are. */
	readonly count: number
	/** Undefined when all is done. */
	readonly next: Checkpoint | undefined
}

/** Seals the values of the next page with the first key, unless it holds them already. What nothing opens stays as it is. */
export async function sealAgain(db: Db, secrets: Secrets, at: Checkpoint): Promise<StalePage> {
	const column = columnOf(at)
	const [first] = secrets.keyIds
	// A link may have a token that is sealed, and one that replaced it, made by a server of the version before.
	const rows = await readPage(db, column, at.after, isLink(column) ? [] : [first])
	const writes: [SealedRow, string][] = []
	for (const row of rows) {
		if (isEmpty(column, row) || isSkipped(row)) continue
		const opened = openRow(secrets, column, row)
		const stored = row.head === first ? secrets.unseal(column, row, row.value) : undefined
		if (opened && stored !== opened.text) writes.push([row, secrets.seal(column, row, opened.text)])
	}
	return {
		async write(tx) {
			for (const [row, sealed] of writes) await writeSealed(tx, column, row, sealed)
		},
		count: writes.length,
		next: checkpointAfter(column, rows),
	}
}
