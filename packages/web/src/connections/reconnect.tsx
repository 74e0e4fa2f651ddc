import type { Connection, ConnectionCredentials } from '@remit/sdk'
import { type FormEvent, useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Credentials } from './credentials.tsx'
import { errorsOf } from './errors-of.ts'
import { credentialFields, needsPopUp, openPopUp } from './words.ts'
import '../forms/record-form.css'

interface ReconnectProps {
	readonly connection: Connection
	readonly title: string
}

/** New credentials: at the provider in a window, or typed here and tested at once. */
export const Reconnect = ({ connection, title }: ReconnectProps) =>
	needsPopUp(connection.authType) ? (
		<AtProvider id={connection.id} title={title} />
	) : (
		<Typed connection={connection} title={title} />
	)

/** Of a connection that works: nobody is asked for credentials that it does not need. */
export function Replace({ connection }: { connection: Connection }) {
	const [isOpen, setOpen] = useState(false)
	if (isOpen) return <Reconnect connection={connection} title="New credentials" />
	return (
		<Card title="Credentials">
			<p className="quiet-text">The provider takes them. Replace them before they end, or when somebody may have seen them.</p>
			<div>
				<Button onPress={() => setOpen(true)}>Replace</Button>
			</div>
		</Card>
	)
}

function AtProvider({ id, title }: { id: string; title: string }) {
	const write = useWrite('connections.authorize')
	const [url, setUrl] = useState<string>()
	const trouble = failureOf(write)
	const open = () => {
		const popUp = openPopUp()
		write.mutate([id], {
			onSuccess: (answer) => {
				if (popUp) popUp.location.href = answer.url
				else setUrl(answer.url)
			},
			onError: () => popUp?.close(),
		})
	}
	return (
		<Card title={title}>
			<p>A window of the provider opens, where a person lets Remit in. This page sees by itself when that is done.</p>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			{url && (
				<p>
					The browser has kept the window shut:{' '}
					<a href={url} target="_blank" rel="noreferrer">
						open it here
					</a>
					.
				</p>
			)}
			<div>
				<Button isPending={write.isPending} onPress={open}>
					Sign in at the provider
				</Button>
			</div>
		</Card>
	)
}

function Typed({ connection: { id, authType }, title }: ReconnectProps) {
	const [credentials, setCredentials] = useState<ConnectionCredentials>({})
	const write = useWrite('connections.update')
	const test = useWrite('connections.test')
	const fields = credentialFields[authType] ?? []
	const errors = errorsOf(
		write.error ?? test.error,
		fields.map(({ name }) => `credentials.${name}`),
	)
	const save = async (event: FormEvent) => {
		event.preventDefault()
		try {
			await write.mutateAsync([id, { credentials }])
			await test.mutateAsync([id])
		} catch {
			// Their errors are shown.
		}
	}
	return (
		<Card title={title}>
			<form className="record-form" noValidate onSubmit={save}>
				{errors.rest && <ErrorPanel isSmall {...errors.rest} />}
				<Credentials authType={authType} value={credentials} onChange={setCredentials} errorOf={errors.of} />
				<div>
					<Button
						type="submit"
						isPending={write.isPending || test.isPending}
						isDisabled={fields.some(({ name }) => !credentials[name])}
					>
						Save and test
					</Button>
				</div>
			</form>
		</Card>
	)
}
