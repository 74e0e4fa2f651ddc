// `remit secrets`: which encryption keys hold what, and sealing all of it with the first.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Database } from '../../platform/db/database.ts'
import { requireEncryptionKey } from '../../platform/outside/sealed-store.ts'
import { openSecrets, type Secrets } from '../../platform/outside/secrets.ts'
import { Worker } from '../../platform/work/jobs.ts'
import { countSealed, isResealing, resealJobs, type SealedValues, startReseal } from '../../platform/work/sealing.ts'
import { type CommandContext, command, print } from './command.ts'

const waitMs = 200

export function addSecretsCommands(program: Command, { settings, withDatabase }: CommandContext): void {
	const secrets = program.command('secrets').description('What the database holds sealed, and the keys that open it.')

	command(secrets, 'status', 'Say how many sealed values each encryption key still holds.').action((options) =>
		withDatabase(async (db) => {
			await requireEncryptionKey(db, settings())
			const found = await countSealed(db, openSecrets(settings()), true)
			print(options, found, statusLines(found).join('\n'))
		}),
	)

	command(secrets, 'rotate', 'Seal all values with the first encryption key, beside running servers.').action((options) =>
		withDatabase(async (db, now) => {
			await requireEncryptionKey(db, settings())
			const opened = openSecrets(settings())
			await startReseal(db, opened, now())
			await finishReseal(db, opened, now)
			const found = await countSealed(db, opened, true)
			print(options, found, statusLines(found).join('\n'))
		}),
	)
}

/** Runs the job, or waits until a server that took it has. A server also goes on with it when this command is ended. */
async function finishReseal(db: Database, secrets: Secrets, now: () => number): Promise<void> {
	const { pino } = await import('pino')
	const worker = new Worker({ db, handlers: resealJobs(db, secrets), now, log: pino({ level: 'silent' }) })
	for (await worker.drain(); await isResealing(db, secrets); await worker.drain()) await sleep(waitMs)
}

function statusLines({ keys, unknown, broken, unbound }: SealedValues): string[] {
	const lines = keys.map(({ id, seals, known, values, columns }) => {
		const places = Object.entries(columns).map(([column, count]) => `${column} ${count}`)
		const held = `${id}  holds ${values} values${places.length > 0 ? `: ${places.join(', ')}` : ''}`
		if (!known) return `${held}. ENCRYPTION_KEYS lacks it: they cannot be read.`
		if (seals) return `${held}. It seals what is new.`
		return values === 0 ? `${held}. It may be removed once no server seals with it.` : `${held}.`
	})
	if (unknown > 0)
		lines.push(`${unknown} values of an older version are held by a key that ENCRYPTION_KEYS lacks: they cannot be read.`)
	if (broken > 0)
		lines.push(`${broken} values do not open with the key that they name: they were changed, or copied from another row.`)
	if (unbound > 0)
		lines.push(`${unbound} values have the form of an older version: remit secrets rotate binds them to their rows.`)
	return lines
}
