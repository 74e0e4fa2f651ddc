// `remit mail`: the addresses to which the server sends no mail.
import type { Command } from 'commander'
import { listSuppressed, suppress, suppressionReasons, unsuppress } from '../../platform/mails/suppression-store.ts'
import { isAddress } from '../../platform/outside/mail/addresses.ts'
import { type CommandContext, command, print, UsageError } from './command.ts'

export function addMailCommands(program: Command, { withDatabase }: CommandContext): void {
	const mail = program.command('mail').description('Addresses to which no mail is sent.')

	command(mail, 'suppress', 'Send no more mail to an address, from any organization.')
		.argument('<address>', 'such as name@example.com')
		.requiredOption('--reason <reason>', `${suppressionReasons.join(' or ')}: mail to it came back, or its owner complained`)
		.action((address, options) =>
			withDatabase(async (db, now) => {
				requireAddress(address)
				if (!suppressionReasons.includes(options.reason))
					throw new UsageError(`--reason ${options.reason}: must be ${suppressionReasons.join(' or ')}`)
				await db.transaction((tx) => suppress(tx, { address, reason: options.reason, suppressedAt: now() }))
				print(options, { ok: true }, `${address} gets no more mail.`)
			}),
		)

	command(mail, 'unsuppress', 'Send mail to an address again.')
		.argument('<address>', 'such as name@example.com')
		.action((address, options) =>
			withDatabase(async (db) => {
				requireAddress(address)
				if (!(await db.transaction((tx) => unsuppress(tx, address)))) throw new UsageError(`${address}: is not suppressed`)
				print(options, { ok: true }, `${address} may get mail again.`)
			}),
		)

	command(mail, 'suppressed', 'List the addresses to which no mail is sent.').action((options) =>
		withDatabase(async (db) => {
			const found = await listSuppressed(db)
			const lines = found.map(
				({ address, reason, suppressedAt }) => `${address}  ${reason}  ${new Date(suppressedAt).toISOString().slice(0, 10)}`,
			)
			print(options, found, lines.join('\n') || 'None.')
		}),
	)
}

function requireAddress(address: string): void {
	if (!isAddress(address)) throw new UsageError(`${address}: must be one address, such as name@example.com`)
}
