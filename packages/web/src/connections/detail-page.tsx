import type { Connection } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Activity } from 'lucide-react'
import { failureOf, usePages } from '../api/pages.ts'
import { pollDelay } from '../api/polling.ts'
import { read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showTime } from '../format/dates.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Card, Facts } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { ConnectionMenu } from './connection-menu.tsx'
import { Reconnect, Replace } from './reconnect.tsx'
import { authTypes } from './words.ts'

const route = getRouteApi('/connections/$id')

/** Those that new credentials may mend: they are asked for until the connection works. */
const waits = ['pending', 'needs_reauth', 'failed']

export default function ConnectionPage() {
	const { id } = route.useParams()
	const query = useQuery({
		...read('connections.get', id),
		refetchInterval: (polled) => pollDelay(polled, waits.includes(polled.state.data?.status ?? '') ? 2_000 : 10_000),
	})
	const { may } = useSession()
	const test = useWrite('connections.test')
	const connection = query.data
	const trouble = failureOf(test)
	const { label, tone } = statusOf(connection?.status ?? '')
	const prove = () =>
		test.mutate([id], { onSuccess: ({ status }) => status === 'active' && toast('The provider took the credentials') })
	return (
		<>
			<PageHeader
				title={connection?.name ?? 'Connection'}
				above={<Link to="/connections">Connections</Link>}
				beside={connection && <Badge tone={tone}>{label}</Badge>}
				actions={
					connection &&
					may('admin') && (
						<>
							<ConnectionMenu connection={connection} />
							{connection.status !== 'disabled' && (
								<Button look="primary" icon={<Activity />} isPending={test.isPending} onPress={prove}>
									Test
								</Button>
							)}
						</>
					)
				}
			/>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<Loaded data={connection} failure={failureOf(query)}>
				{(found) => <ConnectionDetails connection={found} />}
			</Loaded>
		</>
	)
}

function ConnectionDetails({ connection }: { connection: Connection }) {
	const { locale, timeZone, may } = useSession()
	const { id, status, account, lastError, missingScopes, config } = connection
	const syncs = usePages('syncs.list', { connectionId: id, limit: 25 })
	const time = (value: number | null) => value && showTime(value, locale, timeZone)
	return (
		<>
			{connection.statusReason && (
				<Banner tone={status === 'degraded' || status === 'disabled' ? 'warn' : 'bad'}>{connection.statusReason}</Banner>
			)}
			<div className="columns">
				<div className="stack">
					{may('admin') && waits.includes(status) && (
						<Reconnect key={connection.version} connection={connection} title="Reconnect" />
					)}
					<Card title="Syncs">
						<Loaded data={syncs.rows} failure={syncs.failure} rows={2}>
							{(found) =>
								found.length === 0 ? (
									<p className="quiet-text">No sync uses it.</p>
								) : (
									<ul>
										{found.map((sync) => (
											<li key={sync.id}>
												<Link to="/syncs/$id" params={{ id: sync.id }}>
													{sync.name}
												</Link>
											</li>
										))}
									</ul>
								)
							}
						</Loaded>
					</Card>
					{may('admin') && status !== 'disabled' && !waits.includes(status) && (
						<Replace key={connection.version} connection={connection} />
					)}
				</div>
				<Card title="Details">
					<Facts
						facts={[
							['Account', account && [account.displayName, account.externalId].filter(Boolean).join(' · ')],
							['Signs in with', authTypes[connection.authType] ?? connection.authType],
							['Credentials', connection.credentialHint && `…${connection.credentialHint}`],
							['Base URL', config.baseUrl],
							['Objects', config.objects?.map(({ name }) => name).join(', ')],
							['Lacks the scopes', missingScopes.join(', ')],
							['Last success', time(connection.lastSuccessAt)],
							['Last error', lastError && `${lastError.detail}\n${time(lastError.at)}`],
							['Token replaced', time(connection.lastRefreshedAt)],
							['Created', time(connection.createdAt)],
						]}
					/>
				</Card>
			</div>
		</>
	)
}
