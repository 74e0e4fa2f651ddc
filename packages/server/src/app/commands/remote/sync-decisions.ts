// `remit syncs resolve`, `links`, `link` and `unlink`: what a person decides of records.
import type { SyncLinkSummary } from '@remit/sdk'
import { Argument, type Command } from 'commander'
import { print } from '../command.ts'
import { type RemoteOptions, remoteCommand, withServer } from './remote.ts'
import { columns, plain } from './text.ts'

const outcomeOf = (id: string, use: 'source' | 'target') =>
	[
		`The next run of ${plain(id)} writes what the ${use} has: remit syncs run ${plain(id)}`,
		`What was deleted at the ${use} is deleted at the other side, too, where the sync deletes.`,
	].join('\n')

export function addDecisionCommands(syncs: Command): void {
	remoteCommand(
		syncs,
		'resolve',
		'Decide a conflict: the next run writes what this side has, and deletes what was deleted there.',
		'write',
	)
		.argument('<id>', 'the sync, syn_…')
		.argument('<errorId>', 'the error, rer_…')
		.addArgument(new Argument('<side>', 'where the records come from, or where they go').choices(['source', 'target']))
		.action((id: string, errorId: string, use: 'source' | 'target', options: RemoteOptions) =>
			withServer(options, async (remit) => {
				const error = await remit.syncs.errors.resolve(id, errorId, { use })
				print(options, error, outcomeOf(id, use))
			}),
		)

	remoteCommand(syncs, 'links', 'List which records of the provider are which of Remit.', 'read')
		.argument('<id>', 'the sync, syn_…')
		.option('--record <id>', 'only the link of this record of Remit')
		.option('--unclear', 'only those of which no answer has said whether the provider has created the record')
		.action((id: string, { record, unclear, ...options }: RemoteOptions & { record?: string; unclear?: boolean }) =>
			withServer(options, async (remit) => {
				const found: SyncLinkSummary[] = []
				const filter = { ...(record !== undefined && { recordId: record }), ...(unclear && { state: 'unclear' as const }) }
				for await (const link of remit.syncs.links.list(id, { ...filter, limit: 100 })) found.push(link)
				const rows = found.map(({ externalId, recordId, state }) => [externalId ?? '-', recordId, state])
				print(options, found, columns(rows).join('\n') || 'None.')
			}),
		)

	remoteCommand(syncs, 'link', 'Link two records by hand; the next run keeps them in step.', 'write')
		.argument('<id>', 'the sync, syn_…')
		.argument('<externalId>', "the record's id at the provider")
		.argument('<recordId>', 'the record of Remit, such as cmp_…')
		.action((id: string, externalId: string, recordId: string, options: RemoteOptions) =>
			withServer(options, async (remit) => {
				const link = await remit.syncs.links.create(id, { externalId, recordId })
				print(options, link, `${plain(externalId)} and ${plain(recordId)} are linked.`)
			}),
		)

	remoteCommand(syncs, 'unlink', 'Remove a link. Both records stay; the next run that reads one takes it for new.', 'admin')
		.argument('<id>', 'the sync, syn_…')
		.argument('<externalId>', "the record's id at the provider; of an unclear link the one of Remit's record")
		.action((id: string, externalId: string, options: RemoteOptions) =>
			withServer(options, async (remit) => {
				print(options, await remit.syncs.links.delete(id, externalId), `The link of ${plain(externalId)} is gone.`)
			}),
		)
}
