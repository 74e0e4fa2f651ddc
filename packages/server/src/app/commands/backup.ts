// `remit backup` and `remit restore`. SQLite is copied and put back here; PostgreSQL's own tools do that, and this prints how.
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ConfigError } from '../../platform/base/errors.ts'
import { version } from '../../platform/contract/document.ts'
import { type CommandContext, command, print } from './command.ts'

export function addBackupCommands(program: Command, context: CommandContext): void {
	command(program, 'backup', 'Copy the database and the encryption key to a folder, also beside a running server.')
		.argument('<folder>', 'a folder that is empty or does not exist')
		.action((folder, options) => backUp(folder, options, context))

	command(program, 'restore', 'Put a backup into DATA_DIR; the server must not run.')
		.argument('<folder>', 'a folder that remit backup wrote')
		.option('--force', 'replace records that are there; they are kept in a folder of DATA_DIR')
		.action((folder, options) => restore(folder, options, context))
}

async function backUp(folder: string, options: { json?: boolean }, { settings }: CommandContext): Promise<void> {
	const { DATABASE_URL, DATABASE_POOLER, DATA_DIR, ENCRYPTION_KEYS } = settings()
	const { writeBackup } = await import('../../platform/db/files/backup.ts')
	const { readMigration } = await import('../../platform/db/drivers/migrate.ts')
	const postgres = DATABASE_URL ? { migration: await readMigration(DATABASE_URL) } : undefined
	const source = { DATA_DIR, ENCRYPTION_KEYS, remit: version, now: Date.now(), ...(postgres && { postgres }) }
	const manifest = await writeBackup(folder, source)
	// What pg_dump sets for its session would stay on connections of a pooler that others use.
	const url = DATABASE_POOLER === 'none' ? '"$DATABASE_URL"' : `'<URL of PostgreSQL itself, not of the pooler>'`
	const run = postgres ? [`pg_dump --format=custom --no-owner --no-privileges --file='${folder}/remit.dump' ${url}`] : []
	const lines = [
		postgres
			? `Wrote ${resolve(folder)}. Now dump the database:\n\n  ${run}`
			: `Wrote ${resolve(folder)}: the database at migration ${manifest.migration}.`,
		...{
			file: ['The folder holds the encryption key: keep it as safe as the server.'],
			setting: ['The keys of ENCRYPTION_KEYS are not in it: keep them too.'],
			none: ['There is no encryption key in DATA_DIR: what the database holds sealed cannot be opened from this backup.'],
		}[manifest.encryptionKey],
	]
	print(options, { folder, ...manifest, run }, lines.join('\n'))
}

async function restore(
	folder: string,
	options: { json?: boolean; force?: boolean },
	{ settings }: CommandContext,
): Promise<void> {
	const { DATABASE_URL, DATA_DIR, ENCRYPTION_KEYS } = settings()
	const { checkBackup } = await import('../../platform/db/files/manifest.ts')
	const { restoreBackup } = await import('../../platform/db/files/restore.ts')
	const manifest = await checkBackup(folder)
	const { database, migration, encryptionKey } = manifest
	if (database === 'postgres' && !DATABASE_URL) throw new ConfigError(`${folder}: is a backup of PostgreSQL: set DATABASE_URL`)
	if (database === 'sqlite' && DATABASE_URL) throw new ConfigError(`${folder}: is a backup of SQLite: unset DATABASE_URL`)
	const replaced = restoreBackup(folder, manifest, { DATA_DIR, force: options.force === true, now: Date.now() })
	const run =
		database === 'postgres'
			? [
					`pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname='<URL of the database>' '${folder}/remit.dump'`,
				]
			: []
	const lines = [
		database === 'postgres'
			? `Now restore the database, which must be empty:\n\n  ${run}`
			: `Restored the database at migration ${migration} to ${DATA_DIR}.`,
	]
	if (replaced) lines.push(`What was there is in ${replaced}.`)
	if (encryptionKey === 'setting' && !ENCRYPTION_KEYS) lines.push('Set ENCRYPTION_KEYS to what it was when the backup was made.')
	if (encryptionKey === 'file' && ENCRYPTION_KEYS) lines.push("ENCRYPTION_KEYS is set: the backup's own key is not used.")
	print(options, { folder, dataDir: DATA_DIR, migration, replaced: replaced ?? null, run }, lines.join('\n'))
}
