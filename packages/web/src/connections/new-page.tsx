import type { ConnectionAuthType, ConnectionConfig, ConnectionCredentials, Provider } from '@remit/sdk'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { describe } from '../api/errors.ts'
import { useIdempotencyKey } from '../api/idempotency-key.ts'
import { usePages } from '../api/pages.ts'
import { call, useWrite } from '../api/query.ts'
import { OnlyFor } from '../forms/only-for.tsx'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Field } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NativeSelect } from '../ui/native-select.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { Credentials } from './credentials.tsx'
import { errorsOf } from './errors-of.ts'
import { TokenFields } from './token-fields.tsx'
import { authTypes, credentialFields, needsPopUp, openPopUp } from './words.ts'
import '../forms/record-form.css'

const route = getRouteApi('/connections/new')

export default function NewConnectionPage() {
	const { provider: id } = route.useSearch()
	const { rows, failure } = usePages('connections.providers.list', { limit: 100 })
	const provider = rows?.find((one) => one.id === id)
	return (
		<>
			<PageHeader
				title={provider ? `Connect ${provider.name}` : 'New connection'}
				above={<Link to="/connections">Connections</Link>}
			/>
			<OnlyFor need="admin" toCreate>
				<Loaded data={rows} failure={failure}>
					{() =>
						provider ? (
							<NewConnection key={provider.id} provider={provider} />
						) : (
							<EmptyState
								title="Choose a provider"
								action={
									<Link to="/connections" className="button plain">
										See the providers
									</Link>
								}
							>
								Each opens in its own way: with a key, a password, or at the provider.
							</EmptyState>
						)
					}
				</Loaded>
			</OnlyFor>
		</>
	)
}

/** What is shown of it with `client_credentials`. */
const tokenFields = ['tokenUrl', 'scopes', 'tokenParameters.audience', 'tokenParameters.resource']

/** What `http_json` needs besides credentials. */
const apiFields = [
	{ name: 'baseUrl', label: 'Base URL', isRequired: true, hint: 'Paths are added to it, such as https://api.acme.example/v2.' },
	{ name: 'testPath', label: 'Path of a test', isRequired: false, hint: 'Read to prove the credentials, such as /me.' },
] as const

function NewConnection({ provider }: { provider: Provider }) {
	const { navigate, history } = useRouter()
	const [name, setName] = useState(provider.name)
	const [authType, setAuthType] = useState<ConnectionAuthType>(provider.authTypes[0] as ConnectionAuthType)
	const [credentials, setCredentials] = useState<ConnectionCredentials>({})
	const [config, setConfig] = useState<ConnectionConfig>({})
	const key = useIdempotencyKey()
	const { mutateAsync, error, isPending } = useWrite('connections.create')
	const isApi = provider.id === 'http_json'
	const shown = ['name', ...[...tokenFields, ...apiFields.map((field) => field.name)].map((field) => `config.${field}`)]
	const errors = errorsOf(error, [...shown, ...(credentialFields[authType] ?? []).map((field) => `credentials.${field.name}`)])
	const isRefused = needsPopUp(authType) && !provider.configured
	const submit = async (event: FormEvent) => {
		event.preventDefault()
		const popUp = needsPopUp(authType) ? openPopUp() : null
		const body = {
			provider: provider.id,
			name,
			authType,
			...(isApi && { config: sentOf(config, authType) }),
			...(!needsPopUp(authType) && { credentials }),
		}
		const made = await mutateAsync([body, key.options()]).catch(key.failed)
		if (!made) return popUp?.close()
		const { id } = made
		try {
			if (popUp) popUp.location.href = (await call('connections.authorize', id)).url
			else if (!needsPopUp(authType)) await call('connections.test', id)
		} catch (failure) {
			popUp?.close()
			toast(`${name} was added, but ${describe(failure).advice}`)
		}
		void navigate({ to: '/connections/$id', params: { id }, replace: true })
	}
	return (
		<form className="record-form" noValidate onSubmit={submit}>
			{errors.rest && <ErrorPanel isSmall {...errors.rest} />}
			<Card title="Connection">
				<Field label="Name" isRequired value={name} onChange={setName} error={errors.of('name')} autoComplete="off" />
				{provider.authTypes.length > 1 && (
					<NativeSelect
						label="How"
						isRequired
						value={authType}
						choices={provider.authTypes.map((id) => ({ id, label: authTypes[id] ?? id }))}
						onChange={(id) => setAuthType(id as ConnectionAuthType)}
					/>
				)}
				{isApi &&
					apiFields.map(({ name: field, ...props }) => (
						<Field
							key={field}
							{...props}
							value={config[field] ?? ''}
							onChange={(text) => setConfig({ ...config, [field]: text || undefined })}
							error={errors.of(`config.${field}`)}
						/>
					))}
				{isApi && authType === 'client_credentials' && <TokenFields config={config} onChange={setConfig} errorOf={errors.of} />}
				<Credentials authType={authType} value={credentials} onChange={setCredentials} errorOf={errors.of} />
				{isRefused ? (
					<Banner>This server has no client id and secret for {provider.name} yet: its operator sets them.</Banner>
				) : (
					needsPopUp(authType) && <p className="quiet-text">A window of {provider.name} opens, where you let Remit in.</p>
				)}
			</Card>
			<footer className="form-actions">
				<Button onPress={() => history.back()}>Cancel</Button>
				<Button type="submit" look="primary" isPending={isPending} isDisabled={isRefused}>
					Connect
				</Button>
			</footer>
		</form>
	)
}

/** What was entered for another way to prove who one is stays out, and blanks are no scopes. */
function sentOf(config: ConnectionConfig, authType: ConnectionAuthType): ConnectionConfig {
	const { tokenUrl, scopes, clientAuthentication, tokenParameters, ...others } = config
	if (authType !== 'client_credentials') return others
	return { ...others, tokenUrl, scopes: scopes?.filter(Boolean), clientAuthentication, tokenParameters }
}
