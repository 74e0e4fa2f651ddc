// `remit syncs create`, `pause`, `resume` and `cancel`.
import type { SyncCreate, SyncSchedule } from '@remit/sdk'
import { type Command, Option } from 'commander'
import { print, UsageError } from '../command.ts'
import { type RemoteOptions, remoteCommand, withServer } from './remote.ts'
import { plain } from './text.ts'

interface CreateOptions extends RemoteOptions {
	readonly connection: string
	readonly mapping: string
	readonly reverse?: string
	readonly outbound?: boolean
	readonly name: string
	readonly every?: string
	readonly cron?: string
	readonly conflicts?: SyncCreate['conflictPolicy']
	readonly deletions?: SyncCreate['deletePolicy']
	readonly start: boolean
}

export function addChangeCommands(syncs: Command): void {
	remoteCommand(syncs, 'create', 'Create a sync, and begin its first run.', 'write')
		.requiredOption('--connection <id>', 'the connection, con_…')
		.requiredOption('--mapping <id>', 'the mapping, map_…')
		.option('--reverse <id>', 'the mapping back, map_…: records go both ways')
		.option('--outbound', 'the mapping goes from Remit to the provider')
		.option('--name <name>', 'what it is called', 'Sync')
		.option('--every <minutes>', 'run again so many minutes after a run began')
		.option('--cron <expression>', 'run at these times, such as "0 6 * * 1-5"')
		.addOption(
			new Option('--conflicts <policy>', 'who wins where both sides changed; source_wins when absent').choices([
				...['source_wins', 'target_wins', 'newest_wins', 'manual'],
			]),
		)
		.addOption(
			new Option('--deletions <policy>', 'what becomes of a record whose other side was deleted; ignore when absent').choices([
				...['ignore', 'delete'],
			]),
		)
		.option('--no-start', 'begin no run yet')
		.action((options: CreateOptions) =>
			withServer(options, async (remit) => {
				const { id, runId } = await remit.syncs.create(inputOf(options))
				print(options, { id, runId }, `${id}${runId === null ? '' : `  To follow its run: remit syncs run ${id}`}`)
			}),
		)

	for (const [name, said, scope] of [
		['pause', 'Pause a sync: no run begins, and one that is under way waits.', 'is paused'],
		['resume', 'Resume a paused sync.', 'is resumed'],
		[
			'cancel',
			'Cancel the run of a sync that is under way, or waits. What it did stays done, and it deletes nothing more.',
			'runs no more',
		],
	] as const)
		remoteCommand(syncs, name, said, 'write')
			.argument('<id>', 'the sync, syn_…')
			.action((id: string, options: RemoteOptions) =>
				withServer(options, async (remit) => print(options, await remit.syncs[name](id), `${plain(id)} ${scope}.`)),
			)
}

function inputOf({
	connection,
	mapping,
	reverse,
	outbound,
	name,
	conflicts,
	deletions,
	start,
	...options
}: CreateOptions): SyncCreate {
	if (outbound && reverse !== undefined) throw new UsageError('--outbound and --reverse: choose one')
	const schedule = scheduleOf(options)
	return {
		...{ name, connectionId: connection, mappingId: mapping, start },
		direction: outbound ? 'outbound' : reverse === undefined ? 'inbound' : 'bidirectional',
		...(reverse !== undefined && { reverseMappingId: reverse }),
		...(schedule && { schedule }),
		...(conflicts && { conflictPolicy: conflicts }),
		...(deletions && { deletePolicy: deletions }),
	}
}

function scheduleOf({ every, cron }: Pick<CreateOptions, 'every' | 'cron'>): SyncSchedule | undefined {
	if (every !== undefined && cron !== undefined) throw new UsageError('--every and --cron: choose one')
	if (cron !== undefined) return { type: 'cron', expression: cron }
	if (every === undefined) return undefined
	if (!/^[1-9]\d{0,4}$/.test(every)) throw new UsageError(`--every ${plain(every)}: is no number of minutes`)
	return { type: 'interval', minutes: Number(every) }
}
