// A SAML identity provider for tests: github.com/crewjam/saml, which shares no code with the platform.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"sort"
	"time"

	"github.com/crewjam/saml"
)

// account is the user who is signed in at the provider; the test posts it to /account.
type account struct {
	NameID     string
	Format     string
	Attributes map[string][]string
}

type provider struct {
	account account
	service *saml.EntityDescriptor
}

func (p *provider) GetServiceProvider(_ *http.Request, id string) (*saml.EntityDescriptor, error) {
	if p.service == nil || p.service.EntityID != id {
		return nil, os.ErrNotExist
	}
	return p.service, nil
}

func (p *provider) GetSession(_ http.ResponseWriter, _ *http.Request, _ *saml.IdpAuthnRequest) *saml.Session {
	now := time.Now()
	session := saml.Session{
		ID: "session", Index: "session", CreateTime: now, ExpireTime: now.Add(time.Hour),
		NameID: p.account.NameID, NameIDFormat: p.account.Format,
	}
	names := make([]string, 0, len(p.account.Attributes))
	for name := range p.account.Attributes {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		attribute := saml.Attribute{Name: name, NameFormat: "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"}
		for _, value := range p.account.Attributes[name] {
			attribute.Values = append(attribute.Values, saml.AttributeValue{Type: "xs:string", Value: value})
		}
		session.CustomAttributes = append(session.CustomAttributes, attribute)
	}
	return &session
}

func keyPair() (*rsa.PrivateKey, *x509.Certificate) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(err)
	certificate, err := x509.ParseCertificate(der)
	check(err)
	return key, certificate
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	at := func(path string) url.URL {
		return url.URL{Scheme: "http", Host: fmt.Sprintf("localhost:%d", listener.Addr().(*net.TCPAddr).Port), Path: path}
	}
	key, certificate := keyPair()
	own := &provider{}
	idp := &saml.IdentityProvider{
		Key: key, Certificate: certificate, Logger: log.Default(),
		MetadataURL: at("/metadata"), SSOURL: at("/sso"), LogoutURL: at("/slo"),
		SignatureMethod:         "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
		ServiceProviderProvider: own, SessionProvider: own,
	}
	http.HandleFunc("/metadata", idp.ServeMetadata)
	http.HandleFunc("/sso", idp.ServeSSO)
	http.HandleFunc("/start", func(w http.ResponseWriter, r *http.Request) {
		idp.ServeIDPInitiated(w, r, own.service.EntityID, r.URL.Query().Get("relay"))
	})
	http.HandleFunc("/account", func(_ http.ResponseWriter, r *http.Request) {
		next := account{}
		check(json.NewDecoder(r.Body).Decode(&next))
		own.account = next
	})
	http.HandleFunc("/service", func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		check(err)
		service := &saml.EntityDescriptor{}
		check(xml.Unmarshal(text, service))
		own.service = service
	})
	address := at("")
	fmt.Println(address.String())
	check(http.Serve(listener, nil))
}
