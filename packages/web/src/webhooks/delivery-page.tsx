import type { DeliveryAttempt, WebhookDeliveryDetails } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { failureOf } from '../api/pages.ts'
import { pollDelay } from '../api/polling.ts'
import { read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { prettyJson, showDuration } from '../format/code.ts'
import { showTime } from '../format/dates.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Card, Facts } from '../ui/card.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import './webhooks.css'

const route = getRouteApi('/webhooks/deliveries/$id')
const moving = ['pending', 'delivering']

export default function DeliveryPage() {
	const { id } = route.useParams()
	const query = useQuery({
		...read('webhooks.deliveries.get', id),
		refetchInterval: (polled) => pollDelay(polled, moving.includes(polled.state.data?.status ?? '') ? 2_000 : 10_000),
	})
	const { may } = useSession()
	const redeliver = useWrite('webhooks.deliveries.redeliver')
	const delivery = query.data
	const again = () => redeliver.mutate([id], { onSuccess: () => toast('The delivery is made again') })
	const { label, tone } = statusOf(delivery?.status ?? '')
	const trouble = failureOf(redeliver)
	return (
		<>
			<PageHeader
				title={delivery?.eventType ?? 'Delivery'}
				above={<Link to="/webhooks/deliveries">Deliveries</Link>}
				beside={delivery && <Badge tone={tone}>{label}</Badge>}
				actions={
					may('write') &&
					delivery &&
					!moving.includes(delivery.status) && (
						<Button look="primary" icon={<RotateCw />} isPending={redeliver.isPending} onPress={again}>
							Redeliver
						</Button>
					)
				}
			/>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<Loaded data={delivery} failure={failureOf(query)}>
				{(found) => <Delivery delivery={found} />}
			</Loaded>
		</>
	)
}

function Delivery({ delivery }: { delivery: WebhookDeliveryDetails }) {
	const { locale, timeZone } = useSession()
	const { request } = delivery
	const endpoint = useQuery(read('webhooks.endpoints.get', delivery.endpointId)).data
	const time = (value: number | null) => value && showTime(value, locale, timeZone)
	return (
		<div className="columns">
			<div className="stack">
				<Card title="Attempts">
					{delivery.attempts.length === 0 && <p className="quiet-text">None yet.</p>}
					<ol className="attempts">
						{delivery.attempts
							.map((attempt, index) => <Attempt key={attempt.startedAt} attempt={attempt} number={index + 1} />)
							.toReversed()}
					</ol>
				</Card>
				{request && (
					<Card title="Request">
						<Facts facts={[['Sent to', `POST ${request.url}`]]} />
						<div className="labelled">
							<h3>Headers</h3>
							<CodeBlock
								label="Headers"
								text={Object.entries(request.headers)
									.map(([name, value]) => `${name}: ${value}`)
									.join('\n')}
							/>
						</div>
						<div className="labelled">
							<h3>Body</h3>
							<CodeBlock label="Body of the request" text={prettyJson(request.body)} />
						</div>
					</Card>
				)}
			</div>
			<Card title="Details">
				<Facts
					facts={[
						[
							'Endpoint',
							<Link key="endpoint" to="/webhooks/endpoints/$id" params={{ id: delivery.endpointId }}>
								{endpoint?.url ?? request?.url ?? 'Deleted endpoint'}
							</Link>,
						],
						['Event', <code key="event">{delivery.eventId}</code>],
						['Created', time(delivery.createdAt)],
						['Next attempt', time(delivery.nextAttemptAt)],
						['Last error', delivery.lastError],
						['On probation', delivery.onProbation && 'Its host has yet to answer: it gets one attempt at a time.'],
						['Out of order', delivery.outOfOrder && 'Later events of its record may arrive before it.'],
					]}
				/>
			</Card>
		</div>
	)
}

function Attempt({ attempt, number }: { attempt: DeliveryAttempt; number: number }) {
	const { locale, timeZone } = useSession()
	const { startedAt, durationMs, responseStatus, responseBody, error } = attempt
	return (
		<li className="attempt">
			<div className="attempt-head">
				<Badge tone={error === null ? 'good' : 'bad'}>{responseStatus ?? 'No answer'}</Badge>
				<strong>Attempt {number}</strong>
				<span className="quiet-text">
					{showTime(startedAt, locale, timeZone)} · {showDuration(durationMs)}
				</span>
			</div>
			{error && <p className="bad-text">{error}</p>}
			{responseBody !== null &&
				(responseBody === '' ? (
					<p className="quiet-text">The answer had no body.</p>
				) : (
					<CodeBlock label={`Answer to attempt ${number}`} text={prettyJson(responseBody)} />
				))}
		</li>
	)
}
