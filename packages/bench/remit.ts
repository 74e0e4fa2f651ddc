// Copies the built server, so that a build during the run changes nothing, and a section can change its copy.
import { cpSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startServer } from './processes.ts'
import { newFolder } from './resources.ts'

const source = resolve(import.meta.dirname, '../server')

/** Copies the built server of `folder`, with only the files that it needs to run. */
export function copyServer(name: string, folder = source): string {
	const copy = newFolder(`server-${name}`)
	for (const part of ['bin', 'dist', 'package.json']) cpSync(join(folder, part), join(copy, part), { recursive: true })
	symlinkSync(join(source, 'node_modules'), join(copy, 'node_modules'))
	return copy
}

/** What the production guide says for SQLite. Rivals get it, too: a larger one costs them memory and saves them CPU. */
export const youngGeneration = '--max-semi-space-size=4'

type Settings = Readonly<NodeJS.Dict<string>> & ({ DATA_DIR: string } | { DATABASE_URL: string })

/** Starts a copied server in production mode, with its log and, unless `settings` say otherwise, limits that count but are never reached. */
export function startRemit(name: string, server: string, settings: Settings, cores?: string) {
	const env = {
		PORT: '0',
		HOST: '127.0.0.1',
		LOG_LEVEL: 'info',
		INVOICING_RATE_LIMIT: '1000000',
		INTEGRATION_RATE_LIMIT: '1000000',
		REQUESTS_UNDER_WAY: '100000',
		STORED_MB_PER_DAY: '0',
		BASE_URL: '',
		...settings,
	}
	const young = 'DATABASE_URL' in settings ? '--max-semi-space-size=16' : youngGeneration
	return startServer(name, [young, join(server, 'bin/remit.js'), 'serve', '--json'], env, cores)
}
