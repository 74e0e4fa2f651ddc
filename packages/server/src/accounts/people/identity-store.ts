// Which person somebody is who signed in at the OpenID Connect provider.

import type { User } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'

/** Somebody at a provider. */
export interface Identified {
	readonly issuer: string
	readonly subject: string
}

/** A person in several organizations comes to the one that they used last. */
const mostOrganizations = 8

const byIdentity = query<Identified, { json: string }>((knex, of, dialect) =>
	knex('users')
		.where(of)
		.whereNull('removedAt')
		.orderBy(['createdAt', 'id'])
		.limit(mostOrganizations)
		.select(jsonColumn(knex, dialect, fields.User)),
)

const usedLast = (rows: readonly { json: string }[]) =>
	rows.map(({ json }) => JSON.parse(json) as User).sort((a, b) => (b.lastSignInAt ?? 0) - (a.lastSignInAt ?? 0))[0]

export const findByIdentity = async (db: Db, { issuer, subject }: Identified): Promise<User | undefined> =>
	usedLast(await db.all(byIdentity, { issuer, subject }))

/** Who is another at the provider stays so, though their address is now somebody else's. */
const unlinked = query<{ email: string }, { json: string }>((knex, of, dialect) =>
	knex('users')
		.where(of)
		.whereNull('subject')
		.whereNull('removedAt')
		.orderBy(['createdAt', 'id'])
		.limit(mostOrganizations)
		.select(jsonColumn(knex, dialect, fields.User)),
)

/** Who has an address, and has never signed in at a provider. */
export const findUnlinked = async (db: Db, email: string): Promise<User | undefined> =>
	usedLast(await db.all(unlinked, { email }))

interface Link extends Identified {
	readonly organizationId: string
	readonly id: string
}

const linking = query<Link>((knex, { organizationId, id, issuer, subject }) =>
	knex('users')
		.where({ organizationId, id })
		.whereNull('removedAt')
		.where((rows) => rows.whereNull('subject').orWhere({ issuer, subject }))
		.update({ issuer, subject }),
)

/** Makes the identity this person's; returns false where the person is removed, or somebody else there, meanwhile. */
export const linkIdentity = async (
	db: Db,
	{ organizationId, id }: Pick<User, 'organizationId' | 'id'>,
	{ issuer, subject }: Identified,
): Promise<boolean> => (await db.run(linking, { organizationId, id, issuer, subject })) === 1
