// An organization with one company, and a key that may do everything.
import { createKey } from '../../server/src/accounts/api-keys/store.ts'
import { createCompany } from '../../server/src/billing/companies/store.ts'
import { createOrganization } from '../../server/src/introductions.ts'
import { scopes } from '../../server/src/platform/auth/keys.ts'
import { bySystem } from '../../server/src/platform/base/origin.ts'
import { writingIn } from '../../server/src/platform/db/write-context.ts'
import { withDatabase } from '../databases.ts'
import { companyOf } from '../names.ts'

export function withKey(where: { DATA_DIR: string } | { DATABASE_URL: string }): Promise<{ key: string; companyId: string }> {
	const database = 'DATA_DIR' in where ? { folder: where.DATA_DIR } : { url: where.DATABASE_URL }
	return withDatabase(database, (db) =>
		db.transaction(async (tx) => {
			const origin = bySystem(Date.now())
			const organization = await createOrganization(tx, origin, { name: 'Sync' })
			const { key } = await createKey({ db: tx, origin }, organization.id, { name: 'sync', scopes })
			const { id: companyId } = await createCompany(await writingIn(tx, origin, organization), companyOf(1))
			return { key, companyId }
		}),
	)
}
