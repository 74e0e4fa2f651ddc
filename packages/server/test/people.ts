// What tests need of people: passwords, and the links that they get by mail.

import { storeReset } from '../src/accounts/sessions/password-store.ts'
import { setupPath } from '../src/accounts/sessions/setup.ts'
import { newToken } from '../src/platform/auth/session-cookie.ts'
import { query } from '../src/platform/db/database.ts'
import { openSecrets } from '../src/platform/outside/secrets.ts'
import type { Tenant } from './harness.ts'
import { encryptionKey } from './leaks.ts'

const noPasswords = query<object>((knex) => knex('users').update({ passwordHash: null }))

/** Takes the passwords of all people away, so that the set-up is open; returns the secret of its link. */
export async function openSetup({ db }: Pick<Tenant, 'db'>): Promise<string> {
	await db.transaction((tx) => tx.run(noPasswords, {}))
	return setupPath(openSecrets({ ENCRYPTION_KEYS: encryptionKey(), DATA_DIR: '' })).split('#')[1] as string
}

/** The secret of a new person's link to set a password. */
export async function resetToken(tenant: Tenant): Promise<string> {
	const token = newToken()
	const { id: userId } = await tenant.newPerson()
	const { organizationId, db } = tenant
	await db.transaction((tx) => storeReset(tx, { organizationId, userId }, token, tenant.clock.now))
	return token
}
