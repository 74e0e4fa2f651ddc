// The server that `startRemit` starts, for the tests of applications. No test of Remit itself uses it in place of test/harness.ts,
// whose servers also check every answer.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit } from '@remit/sdk'
import { pino } from 'pino'
import { createKey } from './accounts/doors.ts'
import { settings as known, readConfig } from './config.ts'
import { createOrganization } from './introductions.ts'
import { scopes } from './platform/auth/keys.ts'
import { ConfigError } from './platform/base/errors.ts'
import { byCommand } from './platform/base/origin.ts'
import { openDatabase } from './platform/db/drivers/open.ts'
import { startServer } from './server.ts'
import type * as Testing from './testing-types.d.ts'

/** For tests: receivers of webhooks run on this machine, nothing is limited, and a busy machine is no overload. */
const defaults = {
	NODE_ENV: 'test',
	HOST: '127.0.0.1',
	PORT: '0',
	WEB: 'off',
	LOG_LEVEL: 'silent',
	EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
	MAIL_FROM: 'Remit <remit@remit.example>',
	INVOICING_RATE_LIMIT: '0',
	INTEGRATION_RATE_LIMIT: '0',
	GUESS_RATE_LIMIT: '0',
	REQUESTS_UNDER_WAY: '0',
	MAIL_DAILY_LIMIT: '0',
	WEBHOOK_HOST_RATE: '0',
	SHED_ABOVE_DELAY_MS: '60000',
	SHUTDOWN_SECONDS: '2',
}

export const startRemit: typeof Testing.startRemit = async ({ settings = {}, now, timeZone = 'UTC', ...others } = {}) => {
	const [other] = Object.keys(others)
	if (other !== undefined)
		throw new ConfigError(`${other} is no option of startRemit; a setting of the server goes into settings: { ${other}: … }`)
	const unknown = Object.keys(settings).filter((name) => !(name in known))
	if (unknown.length > 0) throw new ConfigError(`settings: ${unknown.join(', ')} is no setting; remit serve --help lists them`)
	const folder = mkdtempSync(join(tmpdir(), 'remit-test-'))
	const remove = () => rmSync(folder, { recursive: true, force: true })
	// A test runner may end the process without a word.
	process.once('exit', remove)
	/** What is to be closed: the database, and the server with it once that has started. */
	let running: { close(): Promise<void> } | undefined
	const close = async () => {
		await running?.close()
		process.off('exit', remove)
		remove()
	}
	try {
		const config = readConfig({ ...defaults, ...settings, DATA_DIR: folder })
		const log = pino({ level: config.LOG_LEVEL })
		const db = await openDatabase(config, log)
		running = db
		const server = await startServer({ db, config, log, now })
		running = server
		const newOrganization = async (name = 'Test Ltd') => {
			const origin = byCommand((now ?? Date.now)(), 'test')
			const { organizationId, key } = await db.transaction(async (tx) => {
				const organization = await createOrganization(tx, origin, { name, timeZone })
				const { key } = await createKey({ db: tx, origin }, organization.id, { name: 'test', scopes })
				return { organizationId: organization.id, key }
			})
			return { organizationId, key, remit: new Remit({ apiKey: key, baseUrl: server.url }) }
		}
		return {
			...(await newOrganization()),
			url: server.url,
			folder,
			runJobs: async () => server.drainJobs?.(),
			newOrganization,
			close,
			[Symbol.asyncDispose]: close,
		}
	} catch (error) {
		await close()
		throw error
	}
}
