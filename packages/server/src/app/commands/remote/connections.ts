// `remit connections`: connects accounts at providers, and lists them.
import type { Connection } from '@remit/sdk'
import type { Command } from 'commander'
import { print } from '../command.ts'
import type { ConnectOptions } from './connect.ts'
import { type RemoteOptions, remoteCommand, withServer } from './remote.ts'
import { columns } from './text.ts'

export function addConnectionCommands(program: Command): void {
	const connections = program.command('connections').description('Accounts at providers, such as HubSpot.')

	remoteCommand(connections, 'connect', 'Connect an account, or give a connection other credentials.', 'admin')
		.argument('<provider>', 'such as hubspot, xero, stripe or http_json')
		.option('--name <name>', "the connection's name; the provider's when absent. One that has it is connected anew")
		.option('--auth-type <type>', 'oauth2, client_credentials, api_key or basic; the first that the provider has when absent')
		.option('--config <file>', 'a JSON file with what the connection needs besides credentials, such as baseUrl')
		.addHelpText(
			'after',
			'\nCredentials are asked for, or read from standard input: a line with the key, or one with the name and one with the secret.',
		)
		.action((provider: string, options: ConnectOptions) =>
			withServer(options, async (remit) => (await import('./connect.ts')).connect(remit, provider, options)),
		)

	remoteCommand(connections, 'list', 'List connections.', 'read').action((options: RemoteOptions) =>
		withServer(options, async (remit) => {
			const found: Connection[] = []
			for await (const connection of remit.connections.list({ limit: 100 })) found.push(connection)
			const rows = found.map(({ id, provider, status, account, name, statusReason }) => [
				...[id, provider, status, account?.displayName ?? account?.externalId ?? '-', name],
				statusReason ?? '',
			])
			print(options, found, columns(rows).join('\n') || 'None.')
		}),
	)
}
