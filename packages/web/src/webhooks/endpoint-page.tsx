import type { WebhookEndpoint } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Send } from 'lucide-react'
import { failureOf, usePages } from '../api/pages.ts'
import { pollDelay } from '../api/polling.ts'
import { read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { showDuration } from '../format/code.ts'
import { showAgo, showTime } from '../format/dates.ts'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Card, Facts } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Tile } from '../ui/tile.tsx'
import { Deliveries } from './deliveries.tsx'
import { EndpointMenu } from './endpoint-menu.tsx'
import { Health, showPattern, showRate } from './health.tsx'

const route = getRouteApi('/webhooks/endpoints/$id')
const toList = <Link to="/webhooks">Webhooks</Link>

export default function EndpointPage() {
	const { id } = route.useParams()
	const query = useQuery({ ...read('webhooks.endpoints.get', id), refetchInterval: (polled) => pollDelay(polled, 10_000) })
	const { may } = useSession()
	const { navigate } = { navigate: route.useNavigate() }
	const test = useWrite('webhooks.endpoints.test')
	const endpoint = query.data
	const trouble = failureOf(test)
	const send = () =>
		test.mutate([id], {
			onSuccess: (delivery) => void navigate({ to: '/webhooks/deliveries/$id', params: { id: delivery.id } }),
		})
	return (
		<>
			<PageHeader
				title={endpoint?.url.replace(/^https?:\/\//, '') ?? 'Endpoint'}
				above={toList}
				beside={endpoint && <Health endpoint={endpoint} />}
				actions={
					endpoint &&
					may('admin') && (
						<>
							<EndpointMenu endpoint={endpoint} />
							{endpoint.status === 'active' && (
								<Button look="primary" icon={<Send />} isPending={test.isPending} onPress={send}>
									Send test
								</Button>
							)}
						</>
					)
				}
			/>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<Loaded data={endpoint} failure={failureOf(query)}>
				{(found) => <Endpoint endpoint={found} />}
			</Loaded>
		</>
	)
}

function Endpoint({ endpoint }: { endpoint: WebhookEndpoint }) {
	const { locale, timeZone } = useSession()
	const { id, eventTypes, failingSince, previousSecretExpiresAt: previous } = endpoint
	const time = (value: number | null) => value && showTime(value, locale, timeZone)
	return (
		<>
			<State endpoint={endpoint} />
			<Figures id={id} />
			<div className="columns">
				<LatestDeliveries id={id} />
				<Card title="Details">
					<Facts
						facts={[
							['URL', endpoint.url],
							['Description', endpoint.description],
							['Events', eventTypes.map(showPattern).join('\n')],
							['Order', endpoint.ordering === 'resource' ? 'Event after event of each record' : 'Any'],
							['Headers', endpoint.headerNames.join(', ')],
							['Limited to', endpoint.resources?.join(', ')],
							['Secret', `whsec_…${endpoint.secretHint}`],
							['The old secret signs as well until', previous && previous > Date.now() && time(previous)],
							['Failing since', time(failingSince)],
							['Created', time(endpoint.createdAt)],
						]}
					/>
				</Card>
			</div>
		</>
	)
}

/** Why nothing arrives, and what to do. */
function State({ endpoint: { id, status, disabledReason, failingSince } }: { endpoint: WebhookEndpoint }) {
	const { may } = useSession()
	const { mutate, isPending } = useWrite('webhooks.endpoints.update')
	if (status === 'active')
		return failingSince ? (
			<Banner tone="bad">
				It accepts nothing: the first delivery failed {showAgo(failingSince, Date.now())}. After five days Remit turns it off.
			</Banner>
		) : null
	const reason =
		status === 'paused'
			? 'It is paused: what happens now is kept as skipped.'
			: disabledReason === 'gone'
				? 'Remit turned it off since it answered 410.'
				: 'Remit turned it off since every delivery failed for five days.'
	return (
		<Banner
			tone={status === 'paused' ? 'warn' : 'bad'}
			action={
				may('admin') && (
					<Button isSmall isPending={isPending} onPress={() => mutate([id, { status: 'active' }])}>
						{status === 'paused' ? 'Resume' : 'Turn on again'}
					</Button>
				)
			}
		>
			{reason}
		</Banner>
	)
}

function Figures({ id }: { id: string }) {
	const { data: stats } = useQuery({
		...read('webhooks.endpoints.stats', id),
		refetchInterval: (polled) => pollDelay(polled, 10_000),
	})
	const latency = stats?.latency
	return (
		<div className="tiles">
			<Tile label="Accepted in 24 hours" value={stats ? showRate(stats.successRate) : '…'} />
			<Tile
				label="Attempts"
				value={stats ? stats.succeeded + stats.failed : '…'}
				note={stats ? `${stats.failed} failed` : undefined}
			/>
			<Tile
				label="Time to answer"
				value={stats ? (latency ? showDuration(latency.p50Ms) : '–') : '…'}
				note={latency ? `95 % within ${showDuration(latency.p95Ms)}` : undefined}
			/>
		</div>
	)
}

function LatestDeliveries({ id }: { id: string }) {
	const { rows, failure } = usePages('webhooks.deliveries.list', { endpointId: id, limit: 10 }, { pollAfter: 10_000 })
	return (
		<Card
			title="Latest deliveries"
			isFlush
			actions={
				<Link to="/webhooks/deliveries" search={{ endpoint: id }}>
					All deliveries
				</Link>
			}
		>
			<Loaded data={rows} failure={failure} rows={4}>
				{(deliveries) =>
					deliveries.length > 0 ? (
						<Deliveries rows={deliveries} />
					) : (
						<EmptyState title="No deliveries yet">Send a test to see what arrives.</EmptyState>
					)
				}
			</Loaded>
		</Card>
	)
}
