import type { Knex } from 'knex'

/** The rules are in docs/decisions/migrations.md. */
export interface Migration {
	readonly name: string
	/**
	 * The number of the migration that a server must know to serve beside this one: 0 when it only adds (expand); when it takes something
	 * away (contract), the last of the release that had ceased to use it. Every migration after 0090 says it.
	 */
	readonly needs?: number
	/** False: on PostgreSQL it runs outside of a transaction, and begins again from its start when it was broken off. */
	readonly inTransaction?: boolean
	/** `online`: outside of a transaction, beside servers at work. */
	up(knex: Knex, online: boolean): Promise<void>
}
