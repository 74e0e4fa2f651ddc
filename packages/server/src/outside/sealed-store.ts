// Whether the database holds anything that needs the encryption key: then a start must not make another key by itself.
import { existsSync } from 'node:fs'
import { ConfigError } from '../base/errors.ts'
import { type Db, query } from '../db/database.ts'
import { keyFile } from '../db/files/data-folder.ts'
import type { SecretSettings } from './secrets.ts'

/** The tables with sealed columns, or with tokens that the key makes. */
const sealedTables = ['webhook_endpoints', 'client_links', 'idempotency_keys', 'payment_credentials']

const anySealed = query<object, { found: unknown }>((knex) =>
	knex.select(knex.raw(`(${sealedTables.map((table) => `exists (select 1 from ${table})`).join(' or ')}) as "found"`)),
)

/** Throws a ConfigError when the key is missing that the database was written with; several processes need the same. */
export async function requireEncryptionKey(db: Db, { ENCRYPTION_KEYS, DATA_DIR }: SecretSettings): Promise<void> {
	const file = keyFile(DATA_DIR)
	if (ENCRYPTION_KEYS || existsSync(file)) return
	if (!(await db.get(anySealed, {}))?.found) return
	throw new ConfigError(
		`${file} is missing, and the database holds webhook secrets, client links or kept answers that were made with it. Put it back from a backup, or set ENCRYPTION_KEYS. To go on without them: openssl rand -base64 32 > ${file}`,
	)
}
