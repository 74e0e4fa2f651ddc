// What an erasure blanks or deletes.

export interface ErasableTable {
	readonly key: readonly string[]
	/** Columns in which a person is blanked; `?` marks those that may be null. */
	readonly text?: readonly string[]
	/** JSON in which the texts of a person are blanked. */
	readonly json?: readonly string[]
	/** Columns that may have the id of a contact. The row is then about that person, but a `contactId` is only a part of it. */
	readonly contact?: readonly string[]
	/** Text that names no person: ids, states, codes, names of things, and what is sealed and removed by itself. */
	readonly plain?: readonly string[]
	/** Rows that a person's erasure leaves as they are. */
	readonly keep?: 'issued'
	/** Columns that become null in a row that is erased, with an `erasedAt`: rows of the table are never deleted. */
	readonly appendOnly?: readonly string[]
}

/** In the order in which an organization's rows can be deleted: no row is left that refers to a deleted one. */
export type ErasableTables = Readonly<Record<string, ErasableTable>>
