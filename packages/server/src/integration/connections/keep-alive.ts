// Keeps refresh tokens in use: a provider such as Xero ends one that nobody used for a while, and then only a person can connect anew.
import type { Database } from '../../platform/db/database.ts'
import { TokenFailed } from '../../platform/outside/providers/oauth.ts'
import type { Services } from '../../platform/outside/services.ts'
import type { JobHandler } from '../../platform/work/jobs.ts'
import { recordOutcome } from './health.ts'
import { statusAfterError } from './probe.ts'
import { findTokenRow, keepAliveAt, openToken } from './token-store.ts'
import { accessTokenOf } from './tokens.ts'

const hourMs = 3_600_000

export const keepAlive =
	(db: Database, services: Services): JobHandler =>
	async ({ organizationId, resourceId: id, now }) => {
		const row = await findTokenRow(db, { organizationId, id })
		if (!row?.token || row.connection.status === 'disabled') return undefined
		const token = openToken(services.secrets, row)
		// The server lacks the key of the token, and may have it later.
		if (!token) return { dueAt: now + hourMs }
		const dueAt = keepAliveAt(row.connection, token)
		if (dueAt === undefined) return undefined
		if (dueAt > now) return { dueAt }
		try {
			// The new token makes this job due again.
			await accessTokenOf({ db, services, now }, { organizationId, id }, row.tokenGeneration)
			return undefined
		} catch (error) {
			if (!(error instanceof TokenFailed)) throw error
			const { code, message: detail } = error
			await recordOutcome(db, now, row, { error: { code, detail } })
			// A person has to connect it anew.
			if (statusAfterError('active', code) === 'needs_reauth') return undefined
			throw error
		}
	}
