import type { ConnectionAuthType, ConnectionCredentials } from '@remit/sdk'

export const authTypes: Readonly<Record<string, string>> = {
	api_key: 'API key',
	basic: 'User name and password',
	oauth2: 'Sign in at the provider',
	client_credentials: 'Client id and secret',
}

interface CredentialField {
	readonly name: keyof ConnectionCredentials
	readonly label: string
	readonly isSecret: boolean
}

const key = { name: 'apiKey', label: 'API key', isSecret: true } as const

/** What a person enters for each way; nothing for `oauth2`, which asks at the provider. */
export const credentialFields: Readonly<Record<string, readonly CredentialField[]>> = {
	api_key: [key],
	basic: [
		{ name: 'username', label: 'User name', isSecret: false },
		{ name: 'password', label: 'Password', isSecret: true },
	],
	client_credentials: [
		{ name: 'clientId', label: 'Client id', isSecret: false },
		{ name: 'clientSecret', label: 'Client secret', isSecret: true },
	],
}

export const needsPopUp = (authType: ConnectionAuthType): boolean => authType === 'oauth2'

/** Opened with the press itself, before the server has answered: a browser allows no later one. */
export const openPopUp = (): Window | null => window.open('', '_blank', 'popup,width=600,height=760')
